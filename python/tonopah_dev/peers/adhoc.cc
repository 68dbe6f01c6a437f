// The ad hoc network of `tonopah bench` for ns-3: adhoc WORLD (a file as python/tonopah/peers/world_file.py writes it)
// 802.11b has ns-2's radio: 914 MHz, two-ray ground, decoding down to 250 m, carrier sense down to 550 m. 802.11n has ns-3's own.
#include "world.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/dsdv-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cmath>

using namespace ns3;

namespace
{

uint64_t g_frames = 0;

void
CountFrame(Ptr<const Packet>, double)
{
    g_frames++;
}

double
Dbm(double watts)
{
    return 10 * std::log10(watts) + 30;
}

std::string
Mode(double rate)
{
    int kbps = std::lround(rate / 1000);
    return kbps == 5500 ? "DsssRate5_5Mbps" : "DsssRate" + std::to_string(kbps / 1000) + "Mbps";
}

YansWifiPhyHelper
RadioOfNs2()
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6),
                               "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(Dbm(0.28183815)));
    phy.Set("TxPowerEnd", DoubleValue(Dbm(0.28183815)));
    phy.Set("RxSensitivity", DoubleValue(Dbm(3.652e-10)));
    phy.Set("CcaSensitivity", DoubleValue(Dbm(1.559e-11)));
    phy.Set("CcaEdThreshold", DoubleValue(Dbm(1.559e-11)));
    return phy;
}

// 802.11n is told by the number of its rate. Loss over distance, power, errors, queue and aggregates are ns-3's defaults.
NetDeviceContainer
InstallRadios(const World& world, const NodeContainer& nodes)
{
    int mcs = world.Number("mcs", -1);
    YansWifiPhyHelper phy;
    WifiHelper wifi;
    std::string data, control;
    if (mcs >= 0)
    {
        phy.SetChannel(YansWifiChannelHelper::Default().Create());
        wifi.SetStandard(WIFI_STANDARD_80211n);
        data = "HtMcs" + std::to_string(mcs);
        control = "OfdmRate" + std::to_string(std::lround(world.Number("control_rate") / 1e6)) + "Mbps";
    }
    else
    {
        phy = RadioOfNs2();
        wifi.SetStandard(WIFI_STANDARD_80211b);
        data = Mode(world.Number("data_rate"));
        control = Mode(world.Number("control_rate"));
    }
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    uint32_t rts = std::min(world.Number("rts_above"), 65535.0);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(data), "ControlMode",
                                 StringValue(control), "RtsCtsThreshold", UintegerValue(rts));
    auto devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; i < devices.GetN(); i++)
    {
        auto radio = DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy();
        radio->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountFrame));
    }
    return devices;
}

// An order sends a station straight to a place; it stands still once it is there.
void
Go(Ptr<ConstantVelocityMobilityModel> station, double x, double y, double speed)
{
    Vector here = station->GetPosition();
    double distance = std::hypot(x - here.x, y - here.y);
    if (distance == 0 || speed == 0)
    {
        station->SetVelocity(Vector());
        return;
    }
    station->SetVelocity(Vector(speed * (x - here.x) / distance, speed * (y - here.y) / distance, 0));
    static std::map<Ptr<ConstantVelocityMobilityModel>, EventId> arrivals;
    Simulator::Cancel(arrivals[station]);
    arrivals[station] = Simulator::Schedule(Seconds(distance / speed), [station]() { station->SetVelocity(Vector()); });
}

void
Place(const World& world, const NodeContainer& nodes)
{
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantVelocityMobilityModel");
    mobility.Install(nodes);
    for (uint32_t i = 0; i < nodes.GetN(); i++)
    {
        nodes.Get(i)->GetObject<MobilityModel>()->SetPosition(Vector(world.places[i][0], world.places[i][1], 0));
    }
    for (const auto& order : world.orders)
    {
        auto station = nodes.Get(order[0])->GetObject<ConstantVelocityMobilityModel>();
        Simulator::Schedule(Seconds(order[1]), &Go, station, order[2], order[3], order[4]);
    }
}

void
SendDatagrams(Ptr<Socket> socket, int count)
{
    for (int i = 0; i < count; i++)
    {
        socket->Send(Create<Packet>(64));
    }
}

// Addresses are known and block ACK agreements exist when the flows begin, as here. In ns-3.37 an agreement that is made while data
// is sent can start at a number that has been sent already: the receiver then holds back all that follows, for 64 MPDUs, which
// a flow in time-outs takes minutes for. So that many and more datagrams go over each pair of stations in the first second, one
// pair after another.
void
Acquaint(const World& world, const NodeContainer& nodes, const Ipv4InterfaceContainer& interfaces)
{
    const uint16_t port = 9;
    PacketSinkHelper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port)).Install(nodes);
    double turn = 0.9 / (2 * world.flows.size()), at = 0;
    for (const auto& flow : world.flows)
    {
        for (int back = 0; back < 2; back++, at += turn)
        {
            auto socket = Socket::CreateSocket(nodes.Get(flow[back]), UdpSocketFactory::GetTypeId());
            socket->Connect(InetSocketAddress(interfaces.GetAddress(flow[1 - back]), port));
            Simulator::Schedule(Seconds(at), &SendDatagrams, socket, 1);
            Simulator::Schedule(Seconds(at + turn / 2), &SendDatagrams, socket, 100);
        }
    }
}

void
SetTcp(const World& world)
{
    uint32_t segment = world.Number("segment");
    uint32_t window = world.Number("window") * segment;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(uint32_t(world.Number("first_window"))));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(uint32_t(world.Number("ack_every", 1))));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc != 2)
    {
        std::cerr << "usage: adhoc WORLD\n";
        return 2;
    }
    World world(argv[1]);
    SetTcp(world);
    RngSeedManager::SetRun(uint64_t(world.Number("seed")));
    NodeContainer nodes;
    nodes.Create(world.places.size());
    Place(world, nodes);
    auto devices = InstallRadios(world, nodes);
    InternetStackHelper stack;
    bool routed = world.Number("routed", 1) != 0;
    if (routed)
    {
        stack.SetRoutingHelper(DsdvHelper());
    }
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    auto interfaces = addresses.Assign(devices);
    if (!routed)
    {
        // Without FqCoDel before the queue of a device, which here never fills.
        TrafficControlHelper().Uninstall(devices);
        Acquaint(world, nodes, interfaces);
    }

    uint32_t segment = world.Number("segment");
    double interval = world.Number("interval");
    ApplicationContainer sinks;
    for (size_t f = 0; f < world.flows.size(); f++)
    {
        const auto& flow = world.flows[f];
        uint16_t port = 1000 + f;
        Address local = InetSocketAddress(Ipv4Address::GetAny(), port);
        Address remote = InetSocketAddress(interfaces.GetAddress(flow[1]), port);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", local).Install(nodes.Get(flow[1])));
        ApplicationContainer source;
        if (interval > 0)
        {
            OnOffHelper steady("ns3::TcpSocketFactory", remote);
            steady.SetConstantRate(DataRate(uint64_t(std::lround(8 * segment / interval))), segment);
            source = steady.Install(nodes.Get(flow[0]));
        }
        else
        {
            // ns-3 writes 512 bytes at a time, and TCP without Nagle makes small segments of them.
            BulkSendHelper bulk("ns3::TcpSocketFactory", remote);
            bulk.SetAttribute("SendSize", UintegerValue(segment));
            source = bulk.Install(nodes.Get(flow[0]));
        }
        source.Start(Seconds(flow[2]));
    }
    Simulator::Stop(Seconds(world.Number("seconds")));
    PrintSetup();
    Simulator::Run();
    uint64_t bytes = 0, empty = 0;
    for (uint32_t i = 0; i < sinks.GetN(); i++)
    {
        uint64_t got = DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        bytes += got;
        empty += got == 0;
    }
    std::cout << "result packets " << bytes / segment << "\nresult empty " << empty << "\nresult frames " << g_frames
              << "\nresult events " << Simulator::GetEventCount() << std::endl;
    // Taking everything down is no part of the work, and ns-2 does not do it either.
    std::_Exit(0);
}
