/** The NodeManager's auxiliary service. */
package dev.sluice.cluster.yarn;
