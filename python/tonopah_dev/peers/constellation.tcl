# Satellites in a Walker star for ns-2: ns constellation.tcl WORLD (a file as python/tonopah/peers/world_file.py writes it)
# Routes are computed at each change of a link, not for each packet: that costs 70 times the CPU and changes little.

proc setting {name value} { global $name; set $name $value }
proc terminal {latitude longitude} { global terminals; lappend terminals [list $latitude $longitude] }
proc flow {from to start} { global flows; lappend flows [list $from $to $start] }
foreach list {terminals flows} { set $list {} }
source [lindex $argv 0]

ns-random $seed
HandoffManager set handoff_randomization_ true
HandoffManager/Term set elevation_mask_ $elevation_deg
HandoffManager/Term set term_handoff_int_ $handover_interval_s
HandoffManager/Sat set sat_handoff_int_ $isl_interval_s
HandoffManager/Sat set latitude_threshold_ $latitude_limit_deg
HandoffManager/Sat set longitude_threshold_ 10
SatRouteObject set metric_delay_ true
SatRouteObject set data_driven_computation_ false
Agent/TCP set packetSize_ $segment
Agent/TCP set window_ $window
Agent/TCP set windowInit_ $first_window

set ns [new Simulator]
$ns node-config -satNodeType polar -llType LL/Sat -ifqType Queue/DropTail -ifqLen $queue -macType Mac/Sat \
    -phyType Phy/Sat -channelType Channel/Sat -downlinkBW $downlink_rate -wiredRouting OFF

# Satellite k of plane p; in every second plane they are half a spacing ahead.
for {set p 0} {$p < $planes} {incr p} {
    for {set k 0} {$k < $satellites} {incr k} {
        set sat($p,$k) [$ns node]
        set along [expr {360.0 * $k / $satellites + ($p % 2) * $phase_deg}]
        $sat($p,$k) set-position $altitude_km $inclination_deg [expr {$node_deg + $p * $node_spacing_deg}] $along [expr {$p + 1}]
    }
}
for {set p 0} {$p < $planes} {incr p} {
    for {set k 0} {$k < $satellites} {incr k} {
        # The one that a terminal takes after this is the one behind it.
        $sat($p,$k) set_next $sat($p,[expr {($k + $satellites - 1) % $satellites}])
        $ns add-isl intraplane $sat($p,$k) $sat($p,[expr {($k + 1) % $satellites}]) $isl_rate Queue/DropTail $queue
        if {$p + 1 < $planes} {
            $ns add-isl interplane $sat($p,$k) $sat([expr {$p + 1}],$k) $isl_rate Queue/DropTail $queue
        }
    }
}

# A terminal begins at any satellite; its first look, at the start of the run, finds the right one.
$ns node-config -satNodeType terminal
set i 0
foreach place $terminals {
    set ground($i) [$ns node]
    $ground($i) set-position [lindex $place 0] [lindex $place 1]
    $ground($i) add-gsl polar LL/Sat Queue/DropTail $queue Mac/Sat $uplink_rate Phy/Sat \
        [$sat(0,0) set downlink_] [$sat(0,0) set uplink_]
    incr i
}
set agents {}
foreach flow $flows {
    lassign $flow from to start
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $ground($from) $tcp
    $ns attach-agent $ground($to) $sink
    $ns connect $tcp $sink
    set source [new Application/FTP]
    $source attach-agent $tcp
    $ns at $start "$source start"
    lappend agents $tcp
}

# The highest acknowledged packet number counts each data packet once; packet 0 is the SYN.
proc finish {} {
    global ns agents
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
set routes [new SatRouteObject]
$routes compute_routes
$ns at $seconds finish
# CPU time of this process so far, in ns: what is done now is set-up.
puts "result setup [expr {[lindex [read [open /proc/self/schedstat]] 0] / 1e9}]"
$ns run
