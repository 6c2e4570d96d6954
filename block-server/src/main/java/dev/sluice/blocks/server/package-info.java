/**
 * What peers ask a process for that has map outputs: {@link dev.sluice.blocks.server.BlockServer}
 * answers them with queue pairs, locations, parts of partition tables, and copies of what is not
 * registered, which {@link dev.sluice.blocks.server.Stager} makes.
 */
package dev.sluice.blocks.server;
