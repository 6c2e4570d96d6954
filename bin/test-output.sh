# What bin/test shows of Maven's output and of the reports. Sourced, not started.

# Reads Maven's output as it comes, and writes a line for each module and each class of tests, what is
# wrong with a test and where its log is, Maven's own errors, and what the test bed says.
#   test_progress FOLDER   that a module is built in
test_progress() {
  local line module='' kind=surefire class_log='' help='' error_line
  local building='^\[INFO\] Building (Sluice )?([^ ]+) [0-9][^ ]* *(\[[0-9]+/[0-9]+\])?$'
  local goal='^\[INFO\] --- (maven-)?(surefire|failsafe)[-:]'
  local class='^\[[A-Z]+\] Tests run: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+), Skipped: ([0-9]+), Time elapsed: ([0-9.,]+) s.* -+ in (.+)$'
  local failed='^\[ERROR\] (.+) -- Time elapsed: .* <<< (FAILURE|ERROR)!$'
  local error='^\[ERROR\] (.*[^ ].*)$'
  while IFS= read -r line; do
    if [[ $line =~ $building ]]; then
      module=${BASH_REMATCH[2]}
      echo "=== $module ${BASH_REMATCH[3]}"
    elif [[ $line =~ $goal ]]; then
      kind=${BASH_REMATCH[2]}
    elif [[ $line =~ $class ]]; then
      ((BASH_REMATCH[1] == 0)) || class_line "${BASH_REMATCH[@]:1}"
      class_log=$module/$1/$kind-reports/${BASH_REMATCH[6]%%\$*}-output.txt
    elif [[ $line =~ $failed ]]; then
      echo "  FAILED ${BASH_REMATCH[1]}"
      failure_message
      echo "    log: $class_log"
    elif [[ $line == 'with-verbs: '* ]]; then
      echo "$line"
    elif [[ $line =~ $error && ! $help ]]; then
      error_line=${BASH_REMATCH[1]%'-> [Help '*}
      [[ -z $error_line ]] || echo "$error_line"
      [[ $line != *'-> [Help '* ]] || help=1 # what follows is Maven's advice
    fi
  done
}

# Of a class: tests, failures, errors, skipped, seconds, name. Those of nested classes have lines of
# their own, and with them the whole class's may have none.
class_line() {
  local notes=''
  (($2 + $3 == 0)) || notes+=", $(($2 + $3)) FAILED"
  (($4 == 0)) || notes+=", $4 skipped"
  printf '%8s s %4d tests%s  %s\n' "$5" "$1" "$notes" "${6%%\$*}"
}

# The lines of a failure's message, before its stack trace.
failure_message() {
  local line left=20
  while IFS= read -r line && [[ -n $line && ! $line =~ ^[[:space:]]+at\  ]]; do
    ((left-- <= 0)) || echo "    $line"
  done
}

# Of the reports below a folder that are newer than a file: why tests were skipped, with how many, and
# the counts in the words of Maven's own summary. Not by their attributes: Surefire gives a class with
# nested ones as tests="0".
#   test_summary ROOT FILE
test_summary() {
  find "$1" -maxdepth 5 -path '*/target/*-reports/TEST-*.xml' -newer "$2" -exec cat {} + |
    awk '
      # In a word for all runs: names of temporary folders have long numbers.
      function because(reason) {
        gsub(/[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]+/, "...", reason)
        gsub(/&quot;/, "\"", reason); gsub(/&apos;/, "\047", reason); gsub(/&#10;/, " ", reason)
        gsub(/&lt;/, "<", reason); gsub(/&gt;/, ">", reason); gsub(/&amp;/, "\\&", reason)
        gsub(/ +/, " ", reason); sub(/^ /, "", reason); sub(/ $/, "", reason)
        reasons[reason == "" ? "no reason given" : reason]++
        text = ""
      }
      text != "" && (/^\tat / || /^]]>/) { because(substr(text, 2)) }
      text != "" { text = text " " $0 }
      /^ *<testcase / { run++ }
      /^ *<failure[ >]/ { failures++ }
      /^ *<error[ >]/ { errors++ }
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
      }'
}
