export { describeReport } from './describeReport.ts';
export { type AttackPlan, type AttackReport, type AttackSizes, COMBINED, runAttacks } from './runAttacks.ts';
