/**
 * Map output files as memory regions: {@link dev.sluice.blocks.MapOutputRegistry} registers them
 * within a budget, and says of each where it is, or what its file has. Peers ask for that in {@link
 * dev.sluice.blocks.server}. The same code runs inside an executor and in a daemon of its own.
 */
package dev.sluice.blocks;
