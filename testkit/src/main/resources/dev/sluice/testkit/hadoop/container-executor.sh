#!/bin/bash
# In the place of Hadoop's native container-executor, for the commands that LinuxContainerExecutor gives it: the same
# users, groups, permissions and umask. Runs as the NodeManager's user, with capabilities in place of the setuid bit.
set -eu

[[ $1 != --checksetup ]] || exit 0
user=$1 owner=$2 command=$3
shift 3
group=$(id -g)
as_user=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups --inh-caps=-all --ambient-caps=-all)

# make_folders LOCAL_DIRS LOG_DIRS APPLICATION CONTAINER, directories separated by %
make_folders() {
  local directory IFS=%
  for directory in $1; do
    install -d -o "$user" -g "$group" -m 2750 "$directory/usercache/$owner"
    # By umask: chmod of this user would clear the setgid bit, which new folders inherit.
    "${as_user[@]}" bash -c 'umask 027 && mkdir -p "$1"' bash "$directory/usercache/$owner/appcache/$3"
  done
  for directory in $2; do
    install -d -o "$user" -g "$group" -m 2750 "$directory/$3" "$directory/$3/$4"
  done
}

case $command in
  0) # initialize: APPLICATION CONTAINER TOKENS LOCAL_DIRS LOG_DIRS COMMAND...
    make_folders "$4" "$5" "$1" "$2"
    work=${4%%%*}/usercache/$owner/appcache/$1
    install -o "$user" -g "$group" -m 600 "$3" "$work/${3##*/}"
    shift 5
    cd "$work"
    exec "${as_user[@]}" "$@"
    ;;
  1) # launch: APPLICATION CONTAINER WORK SCRIPT TOKENS --http|--https... PID_FILE LOCAL_DIRS LOG_DIRS RESOURCES
    application=$1 container=$2 work=$3 script=$4 tokens=$5
    [[ $6 == --http ]] || exit 3
    pid_file=$7
    make_folders "$8" "$9" "$application" "$container"
    IFS=% read -ra directories <<<"$8"
    "${as_user[@]}" bash -c 'umask 067 && mkdir -p "$@"' bash \
      "${directories[@]/%//usercache/$owner/appcache/$application/$container}" "$work/tmp"
    install -o "$user" -g "$group" -m 700 "$script" "$work/launch_container.sh"
    install -o "$user" -g "$group" -m 600 "$tokens" "$work/container_tokens"
    cd "$work"
    umask 027
    exec setsid --wait bash -c 'echo $$ >"$1" && shift && exec "$@"' bash "$pid_file" \
      "${as_user[@]}" "$work/launch_container.sh"
    ;;
  2) # signal: PID SIGNAL
    "${as_user[@]}" bash -c 'kill -"$2" -- -"$1"' bash "$1" "$2" || exit 9
    ;;
  3) # delete: PATH [PARENT...]
    path=$1
    shift
    for parent in "${@:-}"; do
      target=${parent:+$parent/}$path
      # The user may empty a folder in a folder of the NodeManager, and not remove it.
      "${as_user[@]}" rm -rf -- "$target" || rmdir -- "$target"
    done
    ;;
  *) exit 3 ;;
esac
