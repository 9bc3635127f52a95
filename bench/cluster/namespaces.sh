# Functions of benchmarks with one network namespace for each node; they are sourced, after `names` (the nodes, in order) and
# `network` (the first three parts of their addresses). Need root and iproute2; what they make is removed at the end.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
children=()
# The numbers of the nodes that take part in a command.
members=("${!names[@]}")
clean() {
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait || true
  leave_spaces
  rm -rf "$work"
}
trap clean EXIT
space() { echo "troupe-${names[$1]}-$$"; }
address() { echo "$network.$(($1 + 1))"; }
make_spaces() {
  local i
  for i in "${!names[@]}"; do
    ip netns add "$(space "$i")"
    ip -n "$(space "$i")" link set lo up
    ip -n "$(space "$i")" address add "$(address "$i")/32" dev lo
  done
}
leave_spaces() {
  local i
  for i in "${!names[@]}"; do ip netns del "$(space "$i")" 2>/dev/null || true; done
}
# cable FROM TO [RATE]: a pair of virtual devices between two nodes, by their numbers; both directions with a rate, or no limit
cable() {
  local end here_is there_is
  ip -n "$(space "$1")" link add "to-${names[$2]}" type veth peer name "to-${names[$1]}" netns "$(space "$2")"
  for end in "$1 $2" "$2 $1"; do
    read -r here_is there_is <<<"$end"
    ip -n "$(space "$here_is")" link set "to-${names[there_is]}" up
    [ -z "${3:-}" ] || ip netns exec "$(space "$here_is")" tc qdisc add dev "to-${names[there_is]}" root tbf rate "$3" burst 64kb latency 500ms
    ip -n "$(space "$here_is")" route add "$(address "$there_is")/32" dev "to-${names[there_is]}" src "$(address "$here_is")"
  done
}
# The lines of cluster.nodes.
nodes() {
  local i
  for i in "${!names[@]}"; do
    echo "    { name = ${names[i]}, host = $(address "$i"), control-port = 25520, data-port = 25620 }"
  done
}
# everywhere LOG COMMAND...: runs a command of troupe in the namespaces of all members, with NODE in place of the node's name
everywhere() {
  local log=$1 i child running=()
  shift
  for i in "${members[@]}"; do
    (cd "$work" && exec ip netns exec "$(space "$i")" "$root/troupe" "${@//NODE/${names[i]}}") >"$work/$log-${names[i]}.log" 2>&1 &
    running+=($!)
    children+=($!)
  done
  for child in "${running[@]}"; do wait "$child" || { tail -n 30 "$work/$log"-*.log >&2; exit 1; }; done
}
