// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.MemoryRegion;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvMr;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory registered with a verbs device. {@link VerbsProtectionDomain} creates it. The kernel pins
 * its pages until it is closed, unless it is registered on demand. Any thread; closed by its user
 * or its protection domain.
 */
final class VerbsMemoryRegion extends VerbsChild implements MemoryRegion {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsMemoryRegion.class);

  private final VerbsProtectionDomain domain;
  private final IbvMr region;
  private final long address;
  private final long length;
  private final int lkey;
  private final int rkey;
  private final AtomicBoolean closed = new AtomicBoolean();

  VerbsMemoryRegion(VerbsProtectionDomain domain, IbvMr region) {
    super(domain.device(), "memory region");
    this.domain = domain;
    this.region = region;
    address = region.address();
    length = region.length();
    lkey = region.lkey();
    rkey = region.rkey();
  }

  VerbsProtectionDomain domain() {
    return domain;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      region.close();
    } catch (VerbsException e) {
      LOG.error(
          "Deregistering {} failed: peers may still READ it, and its pages stay in memory",
          this,
          e);
    }
    closed();
  }

  @Override
  public String toString() {
    return "[0x%x, %d bytes]".formatted(address, length);
  }
}
