package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Among whom atomics are atomic ({@code enum ibv_atomic_cap}). */
public enum IbvAtomicCap implements CConstant {
  NONE,
  HCA,
  GLOB
}
