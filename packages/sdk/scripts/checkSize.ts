/** `npm run check:size`: prints what the SDK weighs in a front-end, and fails where the budget is exceeded. */
import { measureBundle } from './measureBundle.ts';
import { MEASURED_SOURCES, SIZE_BUDGET_BYTES } from './sizeBudget.ts';

/** Parts that must keep within the budget. */
const budgeted = 'requests, storage, user';

for (const [name, source] of Object.entries(MEASURED_SOURCES)) {
  const { bytes, foreign } = await measureBundle(source, import.meta.dirname);
  const limit = name === budgeted ? ` of at most ${SIZE_BUDGET_BYTES}` : '';
  const along = foreign.length > 0 ? ` (with ${foreign.join(', ')})` : '';
  console.log(`${String(bytes).padStart(7)} bytes${limit}  ${name}${along}`);
  if (name === budgeted && (bytes > SIZE_BUDGET_BYTES || foreign.length > 0)) process.exitCode = 1;
}
