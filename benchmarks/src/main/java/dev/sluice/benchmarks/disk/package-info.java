/**
 * The command {@code bin/bench disk}: READs of files by the software provider while another disk is
 * slow or hangs. {@link DiskCommand} measures; {@link DiskPeers} has the endpoints, {@link
 * ReadFlow} keeps them busy, and a {@link SickFile} is on that disk.
 */
package dev.sluice.benchmarks.disk;
