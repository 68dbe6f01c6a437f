# The dumbbell of `tonopah bench` for ns-2: ns dumbbell.tcl FLOWS SECONDS QUEUE_PACKETS
# No traces. Routes are set by hand: the default computation costs more than the run at 1,000 flows.

if {$argc != 3} {
    puts stderr "usage: ns dumbbell.tcl FLOWS SECONDS QUEUE_PACKETS"
    exit 2
}
lassign $argv flows seconds limit

set ns [new Simulator]
$ns rtproto Manual

# Payload per segment; ns-2 adds 40 bytes of header. The window of 20 packets that ns-2 starts with would limit.
Agent/TCP set packetSize_ 1448
Agent/TCP set window_ 10000
Agent/TCP set windowInit_ 10
Agent/TCP set overhead_ 0

proc link {a b rate delay limit} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $limit
    $ns queue-limit $b $a $limit
}

# One static route: at node `at`, packets for `target` leave towards `hop`.
proc route {ns at target hop} {
    [$at get-module Manual] add-route [$target id] [[$ns link $at $hop] head]
}

set r0 [$ns node]
set r1 [$ns node]
link $r0 $r1 100Mb 20ms $limit

for {set i 0} {$i < $flows} {incr i} {
    set left [$ns node]
    set right [$ns node]
    link $left $r0 1000Mb 1ms 100000
    link $r1 $right 1000Mb 1ms 100000
    route $ns $left $right $r0
    route $ns $r0 $right $r1
    route $ns $r1 $right $right
    route $ns $right $left $r1
    route $ns $r1 $left $r0
    route $ns $r0 $left $left

    set tcp [new Agent/TCP/Newreno]
    set sink($i) [new Agent/TCPSink/DelAck]
    $ns attach-agent $left $tcp
    $ns attach-agent $right $sink($i)
    $ns connect $tcp $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {0.1 * $i / $flows}] "$ftp start"
    set agent($i) $tcp
}

# Data packets that arrived: those that were sent, less those dropped on the way and those still under way. The highest
# acknowledged packet number counts each once (`bytes_` of the sink is a 32-bit number and wraps).
proc finish {} {
    global agent flows
    set delivered 0
    for {set i 0} {$i < $flows} {incr i} {
        incr delivered [expr {[$agent($i) set ack_] + 1}]
    }
    puts "delivered $delivered"
    exit 0
}
$ns at $seconds finish
$ns run
