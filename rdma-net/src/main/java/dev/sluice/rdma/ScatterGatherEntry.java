// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * One piece of registered local memory: {@code struct ibv_sge}.
 *
 * @param address address of the first byte
 * @param length bytes
 * @param lkey local key of the region that holds them
 */
public record ScatterGatherEntry(long address, int length, int lkey) {}
