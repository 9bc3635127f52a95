/**
 * The search for plans over costs alone: {@link BalancedPartition} and {@link SimulatedPartition} cut a model into stages,
 * {@link HierarchicalPartition} into stages with replicas; {@link Strategy} and {@link LayerStrategies} choose how layers
 * are parallel; {@link ScheduleSearch} and {@link MarkovChain} find rows. The simulator measures what they find and a
 * certificate proves it, as for any other plan.
 */
package dev.troupe.schedule.search;
