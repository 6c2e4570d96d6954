package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What a port's link is (ibv_query_port(3)). */
public enum IbvLinkLayer implements CConstant {
  UNSPECIFIED,
  INFINIBAND,
  ETHERNET
}
