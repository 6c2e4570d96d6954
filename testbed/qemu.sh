# Backend that runs the guest in QEMU, with an unmodified Debian kernel. Sourced by bin/with-verbs.
# shellcheck shell=bash disable=SC2034,SC2154

# Sets guest and boot_seconds.
prepare_qemu() {
  local folder i
  need_packages qemu-system-x86
  folder=$(cached_kernel qemu "$suite" "$testbed/guest/qemu-init" "$testbed/qemu/modules")
  guest=(qemu-system-x86_64 -machine q35 -smp "$cpus" -m "$memory" -nodefaults -no-user-config
    -display none -monitor none -no-reboot -serial stdio
    -kernel "$folder/vmlinuz" -initrd "$folder/initrd"
    -append "console=ttyS0 loglevel=7 panic=-1 mitigations=off tsc=reliable random.trust_cpu=on")
  add_share root / ,readonly=on
  add_share run "$run"
  for i in "${!outputs[@]}"; do
    add_share "out$i" "${outputs[i]}"
  done
  choose_accelerator
}

add_share() {
  guest+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap${3:-}"
    -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

# KVM can run a distribution's kernel only with hardware virtualization, which kvm_pvm lacks.
choose_accelerator() {
  if [[ -r /dev/kvm && -w /dev/kvm && ! -d /sys/module/kvm_pvm ]]; then
    guest+=(-accel kvm -cpu host)
    boot_seconds=60
  else
    guest+=(-accel "tcg,thread=multi,tb-size=1024" -cpu max)
    boot_seconds=240
  fi
}
