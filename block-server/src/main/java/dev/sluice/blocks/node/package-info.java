/**
 * The block server of a node: a process of its own that keeps and serves map outputs whatever
 * becomes of the executors that wrote them. {@link dev.sluice.blocks.node.NodeClient} is the
 * executor's side; {@link dev.sluice.blocks.node.NodeDaemon} is the process.
 */
package dev.sluice.blocks.node;
