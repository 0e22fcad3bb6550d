/** `npx prism check:size`: prints what the SDK weighs in a front-end, and fails where a budget is exceeded. */
import { measureBundle } from './measureBundle.ts';
import { SIZE_BUDGETS } from './sizeBudget.ts';

for (const [name, { source, bytes: most }] of Object.entries(SIZE_BUDGETS)) {
  const { bytes, foreign } = await measureBundle(source, import.meta.dirname);
  const along = foreign.length > 0 ? ` (with ${foreign.join(', ')})` : '';
  console.log(`${String(bytes).padStart(7)} bytes of at most ${most}  ${name}${along}`);
  if (bytes > most || foreign.length > 0) process.exitCode = 1;
}
