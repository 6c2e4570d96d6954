# Functions of the checks in this folder that interrupt commands: look at the processes of a session. Sourced,
# not started.

# Prints the processes of a session.
session() {
  ps -s "$1" -o pid=,args= | grep -v ' <defunct>' || true
}

session_is_empty() {
  [[ -z $(session "$1") ]]
}

# Waits until a command succeeds; fails if it does not within a number of seconds.
#   until_so SECONDS COMMAND...
until_so() {
  local deadline=$((SECONDS + $1))
  until "${@:2}"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}
