# The ad hoc network of `tonopah validate ns2` and `tonopah bench` for ns-2: ns adhoc.tcl WORLD
# (a file as python/tonopah/peers/world_file.py writes it). Two-ray ground, DSDV, ARP: ns-2's own values where none are set.

proc setting {name value} { global $name; set $name $value }
proc place {x y} { global places; lappend places [list $x $y] }
proc order {station at x y speed} { global orders; lappend orders [list $station $at $x $y $speed] }
proc flow {from to start} { global flows; lappend flows [list $from $to $start] }
foreach list {places orders flows} { set $list {} }
set trace none
set frames 0
source [lindex $argv 0]

ns-random $seed
Mac/802_11 set dataRate_ $data_rate
Mac/802_11 set basicRate_ $control_rate
Mac/802_11 set RTSThreshold_ $rts_above
Agent/TCP set packetSize_ $segment
Agent/TCP set window_ $window
Agent/TCP set windowInit_ $first_window

set ns [new Simulator]
# Without an open trace file the address resolution stops with an error, even with every trace off. Frames are counted by
# a program behind a pipe: the trace of every frame at every receiver is long.
if {$frames} {
    set events [open {|sh -c {echo result frames $(grep -c "^s .* MAC ")}} w]
} else {
    set events [open [expr {$trace eq "none" ? "/dev/null" : $trace}] w]
}
$ns trace-all $events
set field [new Topography]
$field load_flatgrid [expr {int(ceil($size_x))}] [expr {int(ceil($size_y))}]
create-god [llength $places]
$ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen $queue \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channelType Channel/WirelessChannel -topoInstance $field -routerTrace OFF -movementTrace OFF \
    -agentTrace [expr {$trace eq "none" ? "OFF" : "ON"}] -macTrace [expr {$frames ? "ON" : "OFF"}]
set reserve 10000.0
set energy [info exists power_tx]
if {$energy} {
    $ns node-config -energyModel EnergyModel -initialEnergy $reserve -rxPower $power_rx -txPower $power_tx \
        -idlePower $power_idle -sleepPower 0.0
}

set i 0
foreach place $places {
    lassign $place x y
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ $x
    $node($i) set Y_ $y
    $node($i) set Z_ 0.0
    incr i
}
foreach order $orders {
    lassign $order station at x y speed
    $ns at $at "$node($station) setdest $x $y $speed"
}
set agents {}
foreach flow $flows {
    lassign $flow from to start
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $node($from) $tcp
    $ns attach-agent $node($to) $sink
    $ns connect $tcp $sink
    if {$interval > 0} {
        set source [new Application/Traffic/CBR]
        $source set packetSize_ $segment
        $source set interval_ $interval
    } else {
        set source [new Application/FTP]
    }
    $source attach-agent $tcp
    $ns at $start "$source start"
    lappend agents $tcp
}

# The highest acknowledged packet number counts each data packet once; packet 0 is the SYN.
proc finish {} {
    global ns node agents events energy reserve
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
    if {$energy} {
        set spent 0.0
        foreach i [array names node] { set spent [expr {$spent + $reserve - [$node($i) energy]}] }
        puts "result energy $spent"
    }
    flush stdout
    $ns flush-trace
    close $events
    exit 0
}
$ns at $seconds "finish"
# CPU time of this process so far, in ns: what is done now is set-up.
puts "result setup [expr {[lindex [read [open /proc/self/schedstat]] 0] / 1e9}]"
$ns run
