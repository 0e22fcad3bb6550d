/** Part of `npx prism check:imports`: every entry of a package leads to a file, and somebody uses it. */
import { fileURLToPath } from 'node:url';
import { findExportFaults } from './exports/findExportFaults.ts';

const faults = findExportFaults(fileURLToPath(new URL('..', import.meta.url)));
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
