# The backend that runs the guest in User-Mode Linux: a kernel that is a program. Sourced.

find_uml_kernel() {
  local key
  key=$(cat "$testbed"/kernel/config "$testbed"/kernel/patches/*.patch | sha256sum | cut -c1-12)
  newest_uml_kernel "$key" && return
  # Whoever waited for another's build finds it now.
  mkdir -p "$cache"
  (
    flock 9
    newest_uml_kernel "$key" || "$testbed/kernel/build" "$key" >&2
  ) 9>"$cache/lock"
  newest_uml_kernel "$key" || exit 125
}

newest_uml_kernel() {
  compgen -G "$cache/uml-*-$1/linux" | sort -V | tail -n 1 | grep .
}

# A guest process is a process of the machine, with a mapping for each run of pages: a JVM with a heap
# of 1.5 GiB has 28,000.
check_max_map_count() {
  local count wanted=1048576
  count=$(</proc/sys/vm/max_map_count)
  ((count < 262144)) || return 0
  if sysctl -qw vm.max_map_count=$wanted 2>/dev/null; then
    say "raised vm.max_map_count from $count to $wanted"
  else
    say "vm.max_map_count is $count: the guest hangs when a JVM in it uses more than about 3 GiB; raise it by sysctl"
  fi
}

# The guest's memory is a file; only pages that the guest has touched take room in it.
uml_memory_folder() {
  local folder
  for folder in /dev/shm "${TMPDIR:-/tmp}"; do
    if (($(df --output=avail -B1M "$folder" | tail -n 1) > memory)) &&
      [[ ,$(findmnt -no OPTIONS -T "$folder"), != *,noexec,* ]]; then
      echo "$folder"
      return
    fi
  done
  fail "no folder has room for $memory MiB of guest memory; set TMPDIR or --memory"
}

# Sets guest, the command line.
prepare_uml() {
  local linux
  linux=$(find_uml_kernel)
  check_max_map_count
  cat /proc/cpuinfo >"$run/cpuinfo"
  cp "$testbed/guest/uml-init" "$run/init"
  guest=(env "TMPDIR=$(uml_memory_folder)" "$linux" "mem=${memory}M" "ncpus=$cpus" seccomp=on execpin=1
    "uml_dir=$run" umid=uml root=/dev/root rootfstype=hostfs rootflags=/ ro "init=$run/init" "run=$run"
    con=null con0=null,fd:1 loglevel=7 mitigations=off panic=-1)
  boot_seconds=60
}
