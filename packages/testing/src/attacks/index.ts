export { type AttackName, attacks } from './attacks.ts';
export { describeReport } from './describeReport.ts';
export { measureHonest } from './measureHonest.ts';
export {
  type AttackPlan,
  type AttackReport,
  type AttackSizes,
  COMBINED,
  FULL_SIZES,
  runAttacks,
} from './runAttacks.ts';
export { startAttack } from './startAttack.ts';
