import type { ShimSettings } from '../model/settings.ts'
import { quote } from './shell.ts'

/**
 * The script that makes a rented machine ready: the agent's binaries, the firewall, and a supervisor that keeps the
 * agent running. It is for bash, as root or as a user with sudo, over SSH or as cloud-init's `user_data`. It may run
 * again at any time: what is right already is left alone. The last line of its output says what it did. Whether the
 * agent runs is not told by its exit status but by the agent's own answer.
 *
 * Every path starts at BERTH_ROOT, which is empty on a real machine.
 */
export const bootstrapScript = (settings: ShimSettings): string =>
  [
    '#!/bin/bash',
    '# Starts the agent of this machine. Made by Berth; harmless to run again.',
    `settings() {
  shim_template=${quote(settings.download_url.replaceAll('{version}', settings.version))}
  runner_template=${quote(settings.runner_download_url.replaceAll('{version}', settings.version))}
  version=${quote(settings.version)}
}`,
    functions,
    // Functions travel in one argument, so nothing needs to be on disk; sudo clears the environment, hence env.
    `if [ "$(id -u)" = 0 ]; then
  main
else
  sudo -n env "BERTH_ROOT=\${BERTH_ROOT:-}" "SSH_CONNECTION=\${SSH_CONNECTION:-}" bash -c "$(declare -f); main"
fi`,
    '',
  ].join('\n')

const functions = String.raw`
say() { printf 'berth: %s\n' "$*"; }

fail() {
  say "failed: $*"
  exit 1
}

main() {
  set -u
  umask 022
  root="\${BERTH_ROOT:-}"
  changed=''
  # Stands from before a change until the agent runs with it, so that a run that is cut off is finished by the next.
  pending="$root/var/lib/berth/restart-pending"
  settings
  mkdir -p "$root/usr/local/bin" "$root/var/lib/berth" "$root/run/berth" "$root/var/log" "$root/root/.dstack" ||
    fail 'folders could not be made; is the disk full?'
  exec 9>"$root/run/berth/bootstrap.lock" || fail 'the lock file could not be opened'
  flock -w 120 9 || fail 'another run of this script still works after two minutes'
  docker --version >/dev/null 2>&1 || fail 'docker is not installed (yet); the agent cannot run tasks without it'
  case "$(uname -m)" in
    x86_64) arch=amd64 ;;
    aarch64) arch=arm64 ;;
    *) fail "no agent is published for the architecture $(uname -m)" ;;
  esac
  runner="$root/usr/local/bin/dstack-runner"
  shim="$root/usr/local/bin/dstack-shim"
  runner_url="\${runner_template//\{arch\}/$arch}"
  fetch "$runner" "$runner_url"
  fetch "$shim" "\${shim_template//\{arch\}/$arch}"
  firewall
  if [ -d "$root/run/systemd/system" ]; then with_systemd; else with_loop; fi
  say "dstack-shim $version $did; changed:\${changed:- nothing}"
}

# fetch FILE URL: the marker tells which download is installed. A running binary can't be written to, only replaced.
fetch() {
  local file=$1 url=$2 name marker
  name=$(basename "$file")
  marker="$root/var/lib/berth/$name.url"
  if [ -x "$file" ] && [ "$(cat "$marker" 2>/dev/null)" = "$url" ]; then return; fi
  rm -f "$file.new"
  if ! curl -fsSL --connect-timeout 10 --max-time 240 --retry 3 --retry-delay 2 \
    --retry-max-time 240 -o "$file.new" "$url" 9>&-; then
    rm -f "$file.new"
    fail "$name could not be downloaded from $url"
  fi
  if [ ! -s "$file.new" ] || [ "$(head -c 1 "$file.new" | tr -d '\0')" = '<' ]; then
    rm -f "$file.new"
    fail "$url is not a program"
  fi
  # Without the marker the file counts as not installed, so a run that is cut off here is repaired by the next.
  rm -f "$marker"
  [ "$file" != "$shim" ] || : >"$pending"
  if ! { chmod 755 "$file.new" && mv -f "$file.new" "$file" && printf '%s\n' "$url" >"$marker"; }; then
    fail "$name could not be installed; is the disk full?"
  fi
  changed="$changed $name"
}

# SSH is allowed before anything is denied: on 22 and on the port that this connection came in by.
firewall() {
  command -v ufw >/dev/null 2>&1 || return 0
  # A boot disk over iSCSI (OCI bare metal) needs the image's own rules; ufw would cut it off at the next boot.
  if ls "$root"/sys/class/iscsi_session/session* >/dev/null 2>&1; then return 0; fi
  local port net
  # shellcheck disable=SC2086
  set -- \${SSH_CONNECTION:-}
  for port in 22 "\${4:-22}"; do
    if ! ufw allow "$port/tcp" >/dev/null 2>&1 9>&-; then
      say 'warning: ufw does not take rules; the firewall was left as it is'
      return 0
    fi
  done
  for net in 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16; do
    ufw allow from "$net" >/dev/null 2>&1 9>&- || say "warning: ufw refused to allow $net"
  done
  { ufw default deny incoming && ufw --force enable; } >/dev/null 2>&1 9>&- ||
    say 'warning: ufw could not be enabled'
}

# install_text FILE MODE: writes standard input there; returns 1 when that is what it holds already.
install_text() {
  local text
  text=$(cat)
  if [ "$text" = "$(cat "$1" 2>/dev/null)" ]; then return 1; fi
  if ! { : >"$pending" && printf '%s\n' "$text" >"$1.new" && chmod "$2" "$1.new" && mv -f "$1.new" "$1"; }; then
    fail "$1 could not be written; is the disk full?"
  fi
}

# environment PREFIX HOME_PREFIX: the agent's environment, one setting a line.
environment() {
  cat <<END
$1DSTACK_SHIM_HOME=$2/root/.dstack
$1DSTACK_SHIM_HTTP_PORT=10998
$1DSTACK_SHIM_LOG_LEVEL=4
$1DSTACK_RUNNER_DOWNLOAD_URL=$runner_url
$1DSTACK_RUNNER_BINARY_PATH=$2/usr/local/bin/dstack-runner
$1DSTACK_RUNNER_HTTP_PORT=10999
$1DSTACK_RUNNER_SSH_PORT=10022
$1DSTACK_RUNNER_LOG_LEVEL=4
END
}

with_systemd() {
  mkdir -p "$root/etc/systemd/system"
  # A percent sign in a unit stands for a specifier, so one in the address is doubled.
  if unit | install_text "$root/etc/systemd/system/dstack-shim.service" 644; then
    changed="$changed unit"
  fi
  [ ! -e "$pending" ] || systemctl daemon-reload 9>&-
  systemctl is-enabled --quiet dstack-shim 9>&- 2>/dev/null || systemctl enable --quiet dstack-shim 9>&-
  if ! systemctl is-active --quiet dstack-shim 9>&-; then
    systemctl start dstack-shim 9>&- || fail 'systemd could not start dstack-shim'
    did='started by systemd'
  elif [ -e "$pending" ]; then
    systemctl restart dstack-shim 9>&- || fail 'systemd could not restart dstack-shim'
    did='restarted by systemd'
  else
    did='runs under systemd already'
  fi
  rm -f "$pending"
}

# KillMode=process: a new agent takes over the tasks of the old one, so they must outlive it.
unit() {
  cat <<END
[Unit]
Description=dstack-shim, started by Berth
After=network-online.target docker.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/local/bin/dstack-shim
Restart=always
RestartSec=1
KillMode=process
$(environment 'Environment=' '' | sed 's/%/%%/g')

[Install]
WantedBy=multi-user.target
END
}

# Where there is no systemd: a loop in a session of its own. Its lock, not its pid, says that it runs: pids come back.
with_loop() {
  local loop="$root/usr/local/bin/dstack-shim-loop" lock="$root/run/berth/dstack-shim.lock" old=''
  : >>"$lock"
  if loop_text | install_text "$loop" 755; then changed="$changed loop"; fi
  did='started by a loop'
  if ! flock -n "$lock" true; then
    if [ ! -e "$pending" ]; then
      did='runs under its loop already'
      return 0
    fi
    old=$(cat "$root/run/berth/dstack-shim.pid" 2>/dev/null)
    [ -z "$old" ] || kill "$old" 2>/dev/null
    flock -w 20 "$lock" true || fail 'the old loop of dstack-shim does not end'
    did='restarted by a loop'
  fi
  # shellcheck disable=SC2024
  setsid bash "$loop" "$lock" "$root/run/berth/dstack-shim.pid" "$shim" \
    </dev/null >>"$root/var/log/dstack-shim.log" 2>&1 9>&- &
  # The next run must find it: go on once it holds its lock.
  for _ in {1..50}; do
    flock -n "$lock" true || break
    sleep 0.1
  done
  rm -f "$pending"
}

loop_text() {
  echo '#!/bin/bash'
  environment 'export ' "$root" | sed -e "s/'/'\\\\''/g" -e "s/=\(.*\)/='\1'/"
  cat <<'END'
exec 8>>"$1"
flock -w 5 8 || exit 0
echo $$ >"$2"
child=
trap 'trap - TERM; [ -z "$child" ] || kill "$child" 2>/dev/null; wait; exit 0' TERM
while :; do
  "$3" 8>&- &
  child=$!
  wait "$child"
  child=
  sleep 1 8>&- &
  wait $!
done
END
}
`
  .replaceAll('\\${', '${')
  .trim()
