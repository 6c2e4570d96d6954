# Functions that summarize Maven's output and the test reports for bin/test. Sourced, not started.

# Reads Maven's output while it is written. Prints a line for each module and each test class, the log
# and the first lines of the message for each failed test, Maven's own errors, and the test bed's lines.
# On a terminal the last line is a bar, which is rewritten: the modules that are done, the module, the
# number of classes, and the time of the end if all takes as long as in the last successful run. The bar
# then grows with the time, otherwise with the modules.
#   test_progress FOLDER [TIMES [COLUMNS]]   FOLDER is the build folder of a module. TIMES keeps the second
#                                            at which each module began. COLUMNS are those of a terminal.
test_progress() {
  local line module='' kind=surefire class_log='' help='' error_line message=0
  local times=${2:-} columns=${3:-0} bar='' place='' classes=0 ends='' started=$SECONDS began='' name second
  local modules=1 module_number=1 module_began=0
  local -A last=()
  if [[ -f $times ]]; then
    while read -r name second; do
      last[$name]=$second
    done <"$times"
  fi
  local building='^\[INFO\] Building (Sluice )?([^ ]+) [0-9][^ ]* *(\[[0-9]+/[0-9]+\])?$'
  local goal='^\[INFO\] --- (maven-)?(surefire|failsafe)[-:]'
  local class='^\[[A-Z]+\] Tests run: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+), Skipped: ([0-9]+), Time elapsed: ([0-9.,]+) s.* -+ in (.+)$'
  local failed='^\[ERROR\] (.+) -- Time elapsed: .* <<< (FAILURE|ERROR)!$'
  local error='^\[ERROR\] (.*[^ ].*)$'
  local message_end='^([[:space:]]+at |\[(INFO|WARNING|ERROR)\])'
  while IFS= read -r line; do
    [[ ! $line =~ $message_end ]] || message=0
    if ((message > 0)); then
      if [[ $line == *[![:space:]]* ]]; then
        show "    ${line:0:300}"
        message=$((message - 1))
      fi
    elif [[ $line =~ $building ]]; then
      module=${BASH_REMATCH[2]} place=${BASH_REMATCH[3]}
      module_began=$((SECONDS - started))
      began+="$module $module_began"$'\n'
      [[ ! $place =~ ([0-9]+)/([0-9]+) ]] || module_number=${BASH_REMATCH[1]} modules=${BASH_REMATCH[2]}
      ends=''
      if [[ ${last[$module]:-} && ${last[end]:-} ]]; then
        printf -v ends ', ends about %(%H:%M)T' "$((EPOCHSECONDS + last[end] - last[$module]))"
      fi
      show "=== $module $place"
    elif [[ $line =~ $goal ]]; then
      kind=${BASH_REMATCH[2]}
    elif [[ $line =~ $class ]]; then
      if ((BASH_REMATCH[1] > 0)); then
        classes=$((classes + 1))
        show "$(class_line "${BASH_REMATCH[@]:1}")"
      fi
      class_log=$module/$1/$kind-reports/${BASH_REMATCH[6]%%\$*}-output.txt
    elif [[ $line =~ $failed ]]; then
      show "  FAILED ${BASH_REMATCH[1]}"
      show "    log: $class_log"
      message=8 # lines to show of the failure's message, which is next
    elif [[ $line == 'with-verbs: '* ]]; then
      show "$line"
    elif [[ $line == *'BUILD SUCCESS' && $times && $began ]]; then
      printf '%send %d\n' "$began" "$((SECONDS - started))" >"$times"
    elif [[ $line =~ $error && ! $help ]]; then
      error_line=${BASH_REMATCH[1]%'-> [Help '*}
      [[ -z $error_line ]] || show "$error_line"
      [[ $line != *'-> [Help '* ]] || help=1 # Maven's advice follows
    fi
  done
  [[ -z $bar ]] || printf '\r\033[K'
}

# Prints a line for test_progress, above its bar if there is a terminal.
show() {
  if ((columns == 0)); then
    printf '%s\n' "$1"
  else
    local width=20 filled
    if [[ $ends ]]; then
      filled=$((width * (last[$module] + SECONDS - started - module_began) / (last[end] + 1)))
      filled=$((filled < width ? filled : width))
    else
      filled=$((width * (module_number - 1) / modules))
    fi
    printf -v bar '%*s' "$filled" ''
    bar=${bar// /#}$(printf '%*s' $((width - filled)) '' | tr ' ' -)
    bar="[$bar] $((module_number - 1))/$modules $module, classes: $classes$ends"
    bar=${bar:0:columns - 1} # a line that fills the terminal would be wrapped
    printf '\r\033[K%s\n%s' "$1" "$bar"
  fi
}

# Prints the line of a class: class_line TESTS FAILURES ERRORS SKIPPED SECONDS NAME. Maven reports
# nested classes separately; the outer class may then have no tests.
class_line() {
  local notes=''
  (($2 + $3 == 0)) || notes+=", $(($2 + $3)) FAILED"
  (($4 == 0)) || notes+=", $4 skipped"
  printf '%8s s %4d tests%s  %s\n' "$5" "$1" "$notes" "${6%%\$*}"
}

# Summarizes the reports below a folder that are newer than a file: reasons for skipping with their
# counts, and the totals in the words of Maven's own summary. Counts elements instead of reading their
# attributes, because Surefire writes tests="0" for a class with nested classes. Given a file for it, also
# writes a JSON object of the options, the exit status, the seconds, the totals, and each class.
#   test_summary ROOT FILE [JSON STATUS SECONDS [OPTION...]]
test_summary() {
  find "$1" -maxdepth 5 -path '*/target/*-reports/TEST-*.xml' -newer "$2" -print0 | sort -z | xargs -0r cat |
    LC_ALL=C json=${3:-} status=${4:-} seconds=${5:-} options=$(printf '%s\n' "${@:6}") awk '
      function plain(text) {
        gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\047", text); gsub(/&#(10|13|9);/, " ", text)
        gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&amp;/, "\\&", text)
        return text
      }
      # Returns the text of an attribute of this line.
      function attribute(name, value) {
        value = $0
        return sub(".* " name "=\"", "", value) && sub(/".*/, "", value) ? plain(value) : ""
      }
      function quoted(text, i, c, quote) {
        for (i = 1; i <= length(text); i++) {
          c = substr(text, i, 1)
          quote = quote (c ~ /["\\]/ ? "\\" c : c ~ /[[:cntrl:]]/ ? " " : c)
        }
        return "\"" quote "\""
      }
      # Replace long numbers, as in names of temporary folders, so that equal reasons count together.
      function because(reason) {
        gsub(/[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]+/, "...", reason)
        reason = plain(reason)
        gsub(/ +/, " ", reason); sub(/^ /, "", reason); sub(/ $/, "", reason)
        reason = reason == "" ? "no reason given" : reason
        reasons[reason]++
        because_of[class] = because_of[class] (because_of[class] == "" ? "" : ",") \
          "{\"test\":" quoted(test) ",\"reason\":" quoted(reason) "}"
        text = ""
      }
      function write_json(file, i, n, list, name) {
        n = split(ENVIRON["options"], list, "\n")
        printf "{\"options\":[" >file
        for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? "," : ""), quoted(list[i]) >file
        printf "],\"exit_status\":%d,\"seconds\":%d,", ENVIRON["status"], ENVIRON["seconds"] >file
        printf "\"tests\":%d,\"failures\":%d,\"errors\":%d,\"skipped\":%d,\"classes\":[", run, failures, errors, skipped >file
        for (i = 1; i <= classes; i++) {
          name = names[i]
          printf "%s\n{\"name\":%s,\"seconds\":%.3f,\"tests\":%d,\"failures\":%d,\"errors\":%d,\"skipped\":[%s]}", \
            (i > 1 ? "," : ""), quoted(name), time[name], tests[name], failed[name], ended[name], because_of[name] >file
        }
        print "]}" >file
      }
      text != "" && (/^\tat / || /^]]>/) { because(substr(text, 2)) }
      text != "" { text = text " " $0 }
      /^ *<testsuite / {
        class = attribute("name")
        sub(/\$.*/, "", class) # nested classes count with the outer one
        if (!(class in time)) names[++classes] = class
        seconds = attribute("time")
        gsub(/,/, "", seconds)
        time[class] += seconds
      }
      /^ *<testcase / { run++; tests[class]++; test = attribute("name") }
      /^ *<failure[ >]/ { failures++; failed[class]++ }
      /^ *<error[ >]/ { errors++; ended[class]++ }
      /^ *<skipped[ >\/]/ {
        skipped++
        reason = $0
        if (sub(/^.* message="/, "", reason)) {
          sub(/".*/, "", reason)
          because(reason)
        } else if (sub(/^.*<!\[CDATA\[[A-Za-z0-9.$]*:? */, "", reason)) {
          text = ":" reason # up to the stack trace
        } else {
          because("")
        }
      }
      END {
        if (skipped) print "Skipped:"
        for (why in reasons) printf "%6d  %s\n", reasons[why], why | "sort -k1,1nr -k2"
        close("sort -k1,1nr -k2")
        printf "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d\n", run, failures, errors, skipped
        if (ENVIRON["json"] != "") write_json(ENVIRON["json"])
      }'
}
