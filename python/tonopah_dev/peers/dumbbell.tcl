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
# Flows that come and go: each takes a pair of agents that no other uses, or a new one, between two hosts of one number. As it is
# usual with ns-2, a flow begins with a SYN and has no FIN.
if {[info exists arrivals_per_s]} {
    set random [new RNG]
    $random seed $seed
    set finished 0

    proc new_agents {pair} {
        global ns left right peer_tcp peer_sink
        set tcp [new Agent/$peer_tcp]
        set sink [new Agent/$peer_sink]
        $ns attach-agent $left($pair) $tcp
        $ns attach-agent $right($pair) $sink
        $ns connect $tcp $sink
        $tcp proc done {} "over $pair $tcp $sink"
        return [list $tcp $sink]
    }

    proc arrive {} {
        global ns random arrivals_per_s pairs flow_segments idle busy
        set pair [$random integer $pairs]
        if {[llength $idle($pair)] > 0} {
            lassign [lindex $idle($pair) end] tcp sink
            set idle($pair) [lrange $idle($pair) 0 end-1]
            $tcp reset
            $sink reset
        } else {
            lassign [new_agents $pair] tcp sink
        }
        set busy($tcp) 1
        # Besides packet 0, the SYN, which ns-2 adds itself.
        $tcp advanceby $flow_segments
        $ns at [expr {[$ns now] + [$random exponential [expr {1.0 / $arrivals_per_s}]]}] arrive
    }

    proc over {pair tcp sink} {
        global idle busy finished
        lappend idle($pair) [list $tcp $sink]
        unset busy($tcp)
        incr finished [$tcp set ack_]
    }

    # ns-2 takes milliseconds to make an agent: those of the arrivals of 0.25 s are set-up.
    for {set i 0} {$i < $pairs} {incr i} {
        set idle($i) {}
        for {set k 0} {$k < 0.25 * $arrivals_per_s / $pairs} {incr k} { lappend idle($i) [new_agents $i] }
    }
    $ns at 0 arrive
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
    global agents ns busy finished
    set delivered 0
    if {[info exists finished]} {
        set delivered $finished
        set agents [array names busy]
    }
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
