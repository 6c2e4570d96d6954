/**
 * Map output files as memory regions: {@link dev.sluice.blocks.MapOutputRegistry} registers them
 * within a budget, {@link dev.sluice.blocks.BlockServer} and {@link
 * dev.sluice.blocks.BlockServerClient} are the control plane on which peers exchange queue pairs
 * and locations. The same code runs inside an executor and in a daemon of its own.
 */
package dev.sluice.blocks;
