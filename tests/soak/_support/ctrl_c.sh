# Runs a command as on a terminal, presses Ctrl-C when it prints a line with a text, and waits for its end.
# Prints the output of the command, then one line each: the exit code, the programs that are left in this
# process namespace, and what `dpkg --audit` says of packages that are half installed.
#
#   sh ctrl_c.sh <text> <command>…
text=$1
shift
out=$(mktemp)
# A session of its own: the signal reaches all processes of a terminal, but not this shell.
setsid "$@" >"$out" 2>&1 </dev/null &
group=$!
until grep -qF "$text" "$out"; do
  if ! kill -0 "$group" 2>/dev/null; then
    cat "$out"
    echo "it ended before it printed: $text"
    exit 1
  fi
  sleep 0.02
done
kill -s INT -- "-$group"
wait "$group"
code=$?
cat "$out"
# A process that was killed may take a moment to leave the list: 5 s at most.
for round in $(seq 50); do
  left=
  for process in /proc/[0-9]*; do
    case ${process#/proc/} in $$ | 1) continue ;; esac
    left="$left $(cat "$process/comm" 2>/dev/null)"
  done
  if [ -z "$left" ]; then break; fi
  sleep 0.1
done
echo "exit code: $code"
echo "left:$left"
echo "half installed: $(dpkg --audit)"
