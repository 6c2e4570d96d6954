package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What a GID is for ({@code enum ibv_gid_type}). */
public enum IbvGidType implements CConstant {
  IB,
  ROCE_V1,
  ROCE_V2
}
