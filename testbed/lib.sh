# Functions of the test bed: messages, packages, the cache, and Debian's newer kernels. Sourced, not
# started.
# shellcheck shell=bash

testbed=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sluice/testbed

say() {
  printf 'with-verbs: %s\n' "$*" >&2
}

# Ends with the status that means: the test bed failed, not the command.
fail() {
  say "$*"
  exit 125
}

# Installs missing packages, or names them if that needs another user or distribution.
need_packages() {
  local package missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    fail "these packages are missing; as root: apt-get install ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  { apt_get 600 -qq update &&
    DEBIAN_FRONTEND=noninteractive \
      apt_get 1200 -y -qq --no-install-recommends install "${missing[@]}"; } >"$log" </dev/null || {
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "could not install ${missing[*]}"
  }
  rm -f "$log"
}

# Maximum time to wait for a lock of apt or dpkg that another process holds.
lock_seconds=600

# Runs apt-get with a time limit: apt_get SECONDS ARGUMENT... All its output goes to standard output. While
# another process holds a lock of apt or dpkg, this function restarts apt-get until lock_seconds are over.
# DPkg::Lock::Timeout is not enough: it ignores the locks of package lists and of archives.
apt_get() {
  local output status deadline=$((SECONDS + lock_seconds)) waiting=''
  local locked='Could not get lock|Unable to acquire the dpkg|was locked by another process'
  while :; do
    status=0
    output=$(LC_ALL=C timeout "$1" apt-get "${@:2}" 2>&1) || status=$?
    if ((status == 0)) || ! grep -qE "$locked" <<<"$output"; then
      break
    elif ((SECONDS >= deadline)); then
      say "giving up: another process still holds the lock after $lock_seconds s"
      break
    elif [[ ! $waiting ]]; then
      waiting=1
      say "waiting up to $lock_seconds s for another process: $(grep -E -m 1 "$locked" <<<"$output")"
    fi
    sleep 1
  done
  [[ -z $output ]] || printf '%s\n' "$output"
  return "$status"
}

newest_suite=trixie-backports

# Creates apt's package lists of a Debian suite in a folder of their own, and leaves the machine's lists
# alone. The default is the suite with the newest kernels, for this machine's architecture.
#   make_apt_view FOLDER [SUITE [ARCHITECTURE]]   then: apt_view_get FOLDER download PACKAGE
make_apt_view() {
  local folder=$1 suite=${2:-$newest_suite} architecture=${3:-$(dpkg --print-architecture)} mirror
  need_packages debian-archive-keyring
  mkdir -p "$folder"/{lists/partial,archives/partial}
  mirror=$(find /etc/apt -maxdepth 2 \( -name '*.list' -o -name '*.sources' \) -exec grep -hv '^#' {} + |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 || true)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "${mirror:-http://deb.debian.org/debian} $suite main" >"$folder/sources.list"
  cat >"$folder/apt.conf" <<END
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$folder/lists";
Dir::Cache::archives "$folder/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
Acquire::Languages "none";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
END
  apt_view_get "$folder" update
}

apt_view_get() {
  apt_get 900 -q -c "$1/apt.conf" "${@:2}"
}

apt_view_cache() {
  apt-cache -c "$1/apt.conf" "${@:2}"
}

# Prints the cache folder of the newest kernel of a kind (uml, qemu) that was built from a Debian suite
# and these files. Builds a kernel if there is none: cached_kernel KIND SUITE FILE...
cached_kernel() {
  local kind=$1 suite=$2 key
  key=$(cat "${@:3}" | sha256sum | cut -c1-12)
  [[ $suite == "$newest_suite" ]] || key+=-$suite
  newest_kernel "$kind" "$key" && return
  mkdir -p "$cache"
  # A process that waits here for another process's build finds that build afterwards.
  (
    flock --nonblock 9 || { say "waiting for another build of the same kind" && flock 9; }
    newest_kernel "$kind" "$key" >/dev/null || "$testbed/$kind/build" "$key" "$suite" >&2
  ) 9>"$cache/$kind.lock"
  newest_kernel "$kind" "$key"
}

newest_kernel() {
  compgen -G "$cache/$1-*-$2" | sort -V | tail -n 1 | grep .
}

# Prepares a kernel build: a work folder, and a log that is shown only if something fails. finish_build
# moves the result to the cache, as a whole or not at all.
start_build() {
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  build_log=$cache/$1-build.log
  : >"$build_log"
  cd "$work" || exit
}

logged() {
  "$@" >>"$build_log" 2>&1 </dev/null || {
    tail -n 30 "$build_log" >&2
    fail "$1 failed; all output is in $build_log"
  }
}

finish_build() {
  mkdir result
  mv "${@:2}" result
  mv result "$cache/$1"
}
