// The dumbbell of `tonopah bench` for ns-3: dumbbell WORLD (a file as python/tonopah/peers/world_file.py writes it)
#include "world.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace
{

NetDeviceContainer
Connect(const World& world, const std::string& part, Ptr<Node> a, Ptr<Node> b)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(world.Number(part + "_rate")))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(world.Number(part + "_delay"))));
    auto limit = QueueSize(QueueSizeUnit::PACKETS, uint32_t(world.Number(part + "_queue")));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(limit));
    return link.Install(a, b);
}

// Addresses of one link. Without the last step FqCoDel would stand before the drop-tail queue of every device.
Ipv4InterfaceContainer
Addressed(const NetDeviceContainer& devices, Ipv4AddressHelper& addresses)
{
    auto interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    return interfaces;
}

// Windows that do not limit: the defaults, 536 bytes and 128 KiB, would.
void
SetTcp(const World& world)
{
    uint32_t segment = world.Number("segment");
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(uint32_t(world.Number("first_window"))));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    uint32_t buffer = world.Number("peer_window") * segment;
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc != 2)
    {
        std::cerr << "usage: dumbbell WORLD\n";
        return 2;
    }
    World world(argv[1]);
    SetTcp(world);
    uint32_t pairs = world.Number("pairs");
    NodeContainer routers, left, right;
    routers.Create(2);
    left.Create(pairs);
    right.Create(pairs);
    // Routes are found when they are needed: the tables of global routing take longer than the run at 1,000 flows.
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.InstallAll();

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    Addressed(Connect(world, "bottleneck", routers.Get(0), routers.Get(1)), addresses);
    std::vector<Ipv4Address> ends;
    for (uint32_t i = 0; i < pairs; i++)
    {
        Addressed(Connect(world, "access", left.Get(i), routers.Get(0)), addresses);
        ends.push_back(Addressed(Connect(world, "access", routers.Get(1), right.Get(i)), addresses).GetAddress(1));
    }

    double seconds = world.Number("seconds");
    uint32_t segment = world.Number("segment");
    ApplicationContainer sinks;
    for (size_t f = 0; f < world.flows.size(); f++)
    {
        const auto& flow = world.flows[f];
        uint16_t port = 1000 + f;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(right.Get(flow[1])));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends[flow[1]], port));
        source.SetAttribute("SendSize", UintegerValue(10 * segment));
        source.Install(left.Get(flow[0])).Start(Seconds(flow[2]));
    }
    Simulator::Stop(Seconds(seconds));
    PrintSetup();
    Simulator::Run();
    uint64_t bytes = 0, empty = 0;
    for (uint32_t i = 0; i < sinks.GetN(); i++)
    {
        uint64_t got = DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        bytes += got;
        empty += got == 0;
    }
    std::cout << "result packets " << bytes / segment << "\nresult empty " << empty << "\nresult events "
              << Simulator::GetEventCount() << std::endl;
    // Taking everything down is no part of the work, and ns-2 does not do it either.
    std::_Exit(0);
}
