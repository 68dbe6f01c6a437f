# The dumbbell of `tonopah bench` for ns-2: ns dumbbell.tcl WORLD (a file as python/tonopah/peers/world_file.py writes it)
# No traces. Routes are set by hand: the default computation costs more than the run at 1,000 flows.

proc setting {name value} { global $name; set $name $value }
proc flow {from to start} { global flows; lappend flows [list $from $to $start] }
set flows {}
source [lindex $argv 0]

# As those who want speed run it: packets carry only the headers that this world uses.
if {[info exists lean]} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags
}
set ns [new Simulator]
$ns rtproto Manual

# Payload per segment; ns-2 adds 40 bytes of header. The window of 20 packets that ns-2 starts with would limit.
Agent/TCP set packetSize_ $segment
Agent/TCP set window_ $peer_window
Agent/TCP set windowInit_ $first_window
Agent/TCP set overhead_ 0

proc link {a b rate delay limit} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $limit
    $ns queue-limit $b $a $limit
}

# One static route: at node `at`, packets for `target` leave towards `hop`.
proc route {at target hop} {
    global ns
    [$at get-module Manual] add-route [$target id] [[$ns link $at $hop] head]
}

set r0 [$ns node]
set r1 [$ns node]
link $r0 $r1 $bottleneck_rate ${bottleneck_delay}s [expr {int($bottleneck_queue)}]

for {set i 0} {$i < $pairs} {incr i} {
    set left($i) [$ns node]
    set right($i) [$ns node]
    link $left($i) $r0 $access_rate ${access_delay}s 100000
    link $r1 $right($i) $access_rate ${access_delay}s 100000
    route $left($i) $right($i) $r0
    route $r0 $right($i) $r1
    route $r1 $right($i) $right($i)
    route $right($i) $left($i) $r1
    route $r1 $left($i) $r0
    route $r0 $left($i) $left($i)
}
set agents {}
foreach flow $flows {
    lassign $flow from to start
    set tcp [new Agent/$peer_tcp]
    set sink [new Agent/$peer_sink]
    $ns attach-agent $left($from) $tcp
    $ns attach-agent $right($to) $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    lappend agents $tcp
}

# The highest acknowledged packet number counts each data packet once; packet 0 is the SYN. (`bytes_` of the sink is a
# 32-bit number and wraps.)
proc finish {} {
    global agents ns
    set delivered 0
    set empty 0
    foreach agent $agents {
        set highest [$agent set ack_]
        if {$highest > 0} { incr delivered $highest } else { incr empty }
    }
    puts "result packets $delivered"
    puts "result empty $empty"
    # Events are numbered as they are scheduled.
    puts "result events [$ns at [$ns now] {}]"
    exit 0
}
$ns at $seconds finish
# CPU time of this process so far, in ns: what is done now is set-up.
puts "result setup [expr {[lindex [read [open /proc/self/schedstat]] 0] / 1e9}]"
$ns run
