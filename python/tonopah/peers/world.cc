// A world on ns-3, which `tonopah cross` gives it as lines: world PLAN RESULT. To compile it:
//   g++ -std=c++17 -O2 -o world world.cc $(pkg-config --cflags --libs ns3-internet ns3-nix-vector-routing | sed 's/-I[^ ]*;//')
//
// world DURATION WARMUP EVERY SAMPLES SEED NODES     times in seconds
// link FROM TO RATE DELAY LOSS LIMIT DISC QUANTUM    a direction, its reverse next: bit/s, ns; DISC is - where the device's queue is all
// tcp FROM TO START STOP SEGMENT ALGORITHM KEY=VALUE…    a transfer without end, and attributes of its sockets
// udp FROM TO START STOP SIZE INTERVAL               datagrams: payload in bytes, seconds from one to the next
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <deque>
#include <fstream>
#include <map>

using namespace ns3;

namespace {

const uint32_t AHEAD = 1024; // Segments that an application writes before they can be sent: it never limits its sender.
const uint16_t FIRST_PORT = 1000;
const uint32_t MOST_BYTES = 1 << 30; // Of a window of TCP (RFC 7323 section 2.3).

struct Flow {
    bool tcp;
    uint32_t from, to, segment;
    double start, stop, interval;
    std::string algorithm;
    std::vector<std::pair<std::string, std::string>> attributes;
    Ptr<Socket> socket;
    SequenceNumber32 highest{1}, written{1}; // Ends of what was sent and of what was written.
    uint32_t window = 0;
    uint64_t sent = 0, received = 0, dropped = 0, retransmitted = 0, bytes = 0; // Of the measurement interval.
    std::vector<double> delays;
    std::vector<double> windows;
};

struct Link {
    uint32_t from, to;
    uint64_t rate;
    int64_t delay;
    double loss;
    std::string limit, discipline;
    uint32_t quantum;
    Ptr<SimpleNetDevice> device; // Whose queue it is.
    Ptr<QueueDisc> queue;
    uint64_t drops = 0;
    std::vector<uint64_t> queues, dropped;
};

double g_duration, g_warmup, g_every;
uint32_t g_samples, g_seed, g_nodes;
std::deque<Flow> g_flows;
std::deque<Link> g_links;

// Of which flow a packet of data is, and when it was sent.
struct Mark : Tag {
    static TypeId GetTypeId() {
        static TypeId tid = TypeId("tonopah::Mark").SetParent<Tag>().AddConstructor<Mark>();
        return tid;
    }

    TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return 12; }

    void Serialize(TagBuffer i) const override {
        i.WriteU32(flow);
        i.WriteU64(sent);
    }

    void Deserialize(TagBuffer i) override {
        flow = i.ReadU32();
        sent = i.ReadU64();
    }

    void Print(std::ostream& os) const override { os << flow; }

    uint32_t flow = 0;
    uint64_t sent = 0;
};

// A wire whose directions have delays of their own.
struct Wire : SimpleChannel {
    void Send(Ptr<Packet> p, uint16_t protocol, Mac48Address to, Mac48Address from, Ptr<SimpleNetDevice> sender) override {
        Ptr<NetDevice> other = GetDevice(GetDevice(0) == sender ? 1 : 0);
        auto receiver = DynamicCast<SimpleNetDevice>(other);
        auto node = receiver->GetNode()->GetId();
        Simulator::ScheduleWithContext(node, delays[sender], &SimpleNetDevice::Receive, receiver, p->Copy(), protocol, to, from);
    }

    std::map<Ptr<SimpleNetDevice>, Time> delays;
};

bool Measured() {
    return Simulator::Now().GetSeconds() >= g_warmup;
}

void Leave(uint32_t number, Ptr<const Packet> packet) {
    Mark mark;
    mark.flow = number;
    mark.sent = Simulator::Now().GetNanoSeconds();
    packet->AddPacketTag(mark);
    g_flows[number].sent += Measured();
}

void Sent(uint32_t number, Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>) {
    if (packet->GetSize() == 0) {
        return;
    }
    Leave(number, packet);
    Flow& flow = g_flows[number];
    flow.retransmitted += Measured() && header.GetSequenceNumber() < flow.highest;
    flow.highest = std::max(flow.highest, header.GetSequenceNumber() + SequenceNumber32(packet->GetSize()));
}

void Arrived(const Ipv4Header&, Ptr<const Packet> packet, uint32_t) {
    Mark mark;
    if (packet->PeekPacketTag(mark) && Measured()) {
        g_flows[mark.flow].received++;
        g_flows[mark.flow].delays.push_back(1e-9 * (Simulator::Now().GetNanoSeconds() - mark.sent));
    }
}

void Dropped(uint32_t number, Ptr<const Packet> packet) {
    g_links[number].drops++;
    Mark mark;
    if (packet->PeekPacketTag(mark)) {
        g_flows[mark.flow].dropped += Measured();
    }
}

void Discarded(uint32_t number, Ptr<const QueueDiscItem> item) {
    Dropped(number, item->GetPacket());
}

void WindowChanged(uint32_t number, uint32_t, uint32_t window) {
    g_flows[number].window = window;
}

void Fill(uint32_t number, Ptr<Socket> socket, uint32_t) {
    Flow& flow = g_flows[number];
    int32_t most = AHEAD * flow.segment;
    while (Simulator::Now().GetSeconds() < flow.stop && flow.written - flow.highest < most &&
           socket->GetTxAvailable() >= flow.segment && socket->Send(Create<Packet>(flow.segment)) > 0) {
        flow.written += flow.segment;
    }
}

void Connected(uint32_t number, Ptr<Socket> socket) {
    socket->SetSendCallback(MakeBoundCallback(&Fill, number));
    socket->SetDataSentCallback(MakeBoundCallback(&Fill, number));
    Fill(number, socket, 0);
}

void Drain(uint32_t number, Ptr<Socket> socket) {
    while (Ptr<Packet> packet = socket->Recv()) {
        g_flows[number].bytes += Measured() ? packet->GetSize() : 0;
    }
}

void Accepted(uint32_t number, Ptr<Socket> socket, const Address&) {
    socket->SetRecvCallback(MakeBoundCallback(&Drain, number));
}

Ptr<Socket> SocketOf(const Flow& flow, uint32_t node) {
    auto kind = flow.tcp ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId();
    auto socket = Socket::CreateSocket(NodeList::GetNode(node), kind);
    for (const auto& [name, value] : flow.attributes) {
        socket->SetAttribute(name, StringValue(value));
    }
    if (flow.tcp) {
        ObjectFactory factory;
        std::istringstream(flow.algorithm) >> factory;
        DynamicCast<TcpSocketBase>(socket)->SetCongestionControlAlgorithm(factory.Create<TcpCongestionOps>());
    }
    return socket;
}

void Listen(uint32_t number) {
    auto socket = SocketOf(g_flows[number], g_flows[number].to);
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), FIRST_PORT + number));
    socket->SetRecvCallback(MakeBoundCallback(&Drain, number));
    if (g_flows[number].tcp) {
        socket->Listen();
        socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeBoundCallback(&Accepted, number));
    }
}

void SendDatagram(uint32_t number) {
    Flow& flow = g_flows[number];
    auto packet = Create<Packet>(flow.segment);
    Leave(number, packet);
    flow.socket->Send(packet);
    if (Simulator::Now().GetSeconds() + flow.interval < flow.stop) {
        Simulator::Schedule(Seconds(flow.interval), &SendDatagram, number);
    }
}

void Start(uint32_t number) {
    Flow& flow = g_flows[number];
    flow.socket = SocketOf(flow, flow.from);
    if (flow.tcp) {
        flow.socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&Sent, number));
        flow.socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&WindowChanged, number));
        flow.socket->SetConnectCallback(MakeBoundCallback(&Connected, number), MakeNullCallback<void, Ptr<Socket>>());
    }
    flow.socket->Bind();
    auto address = NodeList::GetNode(flow.to)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    flow.socket->Connect(InetSocketAddress(address, FIRST_PORT + number));
    if (!flow.tcp) {
        SendDatagram(number);
    }
}

void Sample(uint32_t count) {
    for (auto& flow : g_flows) {
        // None is as large; ns-3.37's BBR subtracts beyond zero after a loss.
        flow.windows.push_back(flow.window > 0 && flow.window <= MOST_BYTES ? flow.window : NAN);
    }
    for (auto& link : g_links) {
        link.queues.push_back(link.device->GetQueue()->GetNBytes() + (link.queue ? link.queue->GetNBytes() : 0));
        link.dropped.push_back(link.drops);
    }
    if (count < g_samples) {
        Simulator::Schedule(Seconds(count * g_every) - Simulator::Now(), &Sample, count + 1);
    }
}

Ptr<SimpleNetDevice> DeviceOf(uint32_t number, Ptr<Wire> wire) {
    Link& link = g_links[number];
    auto node = NodeList::GetNode(link.from);
    auto device = CreateObject<SimpleNetDevice>();
    device->SetAttribute("PointToPointMode", BooleanValue(true));
    device->SetAttribute("DataRate", DataRateValue(DataRate(link.rate)));
    device->SetAddress(Mac48Address::Allocate());
    node->AddDevice(device);
    device->SetChannel(wire);
    auto queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetAttribute("MaxSize", StringValue(link.limit));
    queue->TraceConnectWithoutContext("Drop", MakeBoundCallback(&Dropped, number));
    device->SetQueue(queue);
    wire->delays[device] = NanoSeconds(link.delay);
    link.device = device;
    if (link.discipline != "-") {
        auto interface = CreateObject<NetDeviceQueueInterface>();
        interface->GetTxQueue(0)->ConnectQueueTraces(queue);
        device->AggregateObject(interface);
        ObjectFactory factory;
        std::istringstream(link.discipline) >> factory;
        link.queue = factory.Create<QueueDisc>();
        if (link.quantum > 0) {
            DynamicCast<FqCoDelQueueDisc>(link.queue)->SetQuantum(link.quantum);
        }
        link.queue->TraceConnectWithoutContext("Drop", MakeBoundCallback(&Discarded, number));
        node->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, link.queue);
    }
    return device;
}

void Lose(uint32_t number, Ptr<SimpleNetDevice> receiver) {
    auto model = CreateObject<RateErrorModel>();
    model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(g_links[number].loss);
    receiver->SetReceiveErrorModel(model);
    receiver->TraceConnectWithoutContext("PhyRxDrop", MakeBoundCallback(&Dropped, number));
}

void Build() {
    RngSeedManager::SetRun(g_seed);
    NodeContainer nodes(g_nodes);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    for (uint32_t number = 0; number < g_links.size(); number += 2) {
        auto wire = CreateObject<Wire>();
        auto near = DeviceOf(number, wire), far = DeviceOf(number + 1, wire);
        for (auto [link, receiver] : {std::pair(number, far), std::pair(number + 1, near)}) {
            if (g_links[link].loss > 0) {
                Lose(link, receiver);
            }
        }
        addresses.Assign(NetDeviceContainer(NetDeviceContainer(near), NetDeviceContainer(far)));
        addresses.NewNetwork();
    }
    for (uint32_t node = 0; node < g_nodes; node++) {
        nodes.Get(node)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("LocalDeliver", MakeCallback(&Arrived));
    }
    for (uint32_t number = 0; number < g_flows.size(); number++) {
        Simulator::Schedule(Seconds(0), &Listen, number);
        Simulator::Schedule(Seconds(g_flows[number].start), &Start, number);
    }
    Simulator::Schedule(Seconds(0), &Sample, 1);
    Simulator::Stop(Seconds(g_duration));
}

bool Read(const char* path) {
    std::ifstream file(path);
    std::string line, kind;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        words >> kind;
        if (kind == "world") {
            words >> g_duration >> g_warmup >> g_every >> g_samples >> g_seed >> g_nodes;
        } else if (kind == "link") {
            Link& link = g_links.emplace_back();
            words >> link.from >> link.to >> link.rate >> link.delay >> link.loss;
            words >> link.limit >> link.discipline >> link.quantum;
        } else {
            Flow& flow = g_flows.emplace_back();
            flow.tcp = kind == "tcp";
            words >> flow.from >> flow.to >> flow.start >> flow.stop >> flow.segment;
            flow.tcp ? words >> flow.algorithm : words >> flow.interval;
            for (std::string pair; flow.tcp && words >> pair;) {
                auto equals = pair.find('=');
                flow.attributes.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
            }
            words.clear();
        }
        if (!words) {
            std::cerr << path << ": " << line << "\n";
            return false;
        }
    }
    return !g_flows.empty() && g_links.size() % 2 == 0;
}

template <typename T>
void Write(std::ostream& file, const std::string& what, uint32_t number, const std::vector<T>& values) {
    file << what << " " << number;
    for (const T& value : values) {
        file << " " << value;
    }
    file << "\n";
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 || !Read(argv[1])) {
        std::cerr << "usage: world PLAN RESULT\n";
        return 2;
    }
    Build();
    Simulator::Run();
    std::ofstream file(argv[2]);
    file.precision(12);
    for (uint32_t number = 0; number < g_flows.size(); number++) {
        const Flow& flow = g_flows[number];
        Write(file, "flow", number, std::vector{flow.sent, flow.received, flow.dropped, flow.retransmitted, flow.bytes});
        Write(file, "delays", number, flow.delays);
        if (flow.tcp) {
            Write(file, "cwnd", number, flow.windows);
        }
    }
    for (uint32_t number = 0; number < g_links.size(); number++) {
        Write(file, "queue", number, g_links[number].queues);
        Write(file, "drops", number, g_links[number].dropped);
    }
    file.close();
    // Taking everything down is no part of the work.
    std::_Exit(file.good() ? 0 : 1);
}
