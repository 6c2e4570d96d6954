prepare_qemu() { fail "not yet"; }
