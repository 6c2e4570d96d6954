# Runs a guest of any backend: passes its settings, forwards its output, and waits for its end. Sourced by
# bin/with-verbs. The backend has set guest, the command line, and boot_seconds.
# shellcheck shell=bash disable=SC2154

# Creates the folder that machine and guest share, and makes every exit clean up.
open_run() {
  run=$(mktemp -d)
  trap close_run EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  touch "$run"/{stdout,stderr,console}
}

# shellcheck disable=SC2317 # called by the trap
close_run() {
  local child
  for child in $(jobs -p); do
    kill -KILL -- "-$child" "$child" 2>/dev/null || true
  done
  wait 2>/dev/null || true
  if [[ -n $log ]]; then
    cp "$run/console" "$log" || true
  fi
  rm -rf "$run"
}

# Writes the guest's settings and command as bash files, which preserve each word exactly.
write_settings() {
  cp "$testbed/guest/stage2" "$run/stage2"
  {
    echo "backend=$backend devices=$devices timeout=$timeout"
    echo "outputs=(${outputs[*]@Q})"
  } >"$run/settings"
  {
    export -p | grep -vE '^declare -[a-z]+ (SHELLOPTS|BASHOPTS)='
    echo "export SLUICE_TESTBED=$backend"
    printf 'cd %q || exit 125\n' "$PWD"
    printf 'exec'
    printf ' %q' "$@"
  } >"$run/command"
}

# Starts a program in the background. It does not outlive this process, even if this process is killed.
start() {
  setsid setpriv --pdeathsig KILL "$@" &
}

# True if the guest ended within a number of seconds.
guest_ends_within() {
  local timer
  start sleep "$1"
  timer=$!
  wait -n "$guest_pid" "$timer" 2>/dev/null || true # hides the shell's own report of the end
  kill "$timer" 2>/dev/null
}

run_guest() {
  start "${guest[@]}" </dev/null >>"$run/console" 2>&1
  guest_pid=$!
  start tail --pid="$guest_pid" -s 0.1 -n +1 -f "$run/stdout"
  start tail --pid="$guest_pid" -s 0.1 -n +1 -f "$run/stderr" >&2
  guest_ends_within "$boot_seconds" || {
    [[ -e $run/started ]] || guest_failed "the guest did not boot within $boot_seconds s"
    guest_ends_within $((timeout + 60)) || {
      say "the guest did not end after the command's time limit; it was killed"
      exit 124
    }
  }
  wait
  [[ -s $run/status ]] || guest_failed "the guest died"
}

guest_failed() {
  if [[ -e $run/boot.log && ! -e $run/started ]]; then
    tail -n 20 "$run/boot.log" >&2
    fail "$*; the lines above are its last steps ($backend)"
  fi
  tail -n 40 "$run/console" >&2
  fail "$*; the lines above are its kernel's last messages ($backend)"
}
