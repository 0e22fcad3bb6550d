/** `npx prism backup FOLDER`: copies all that a gateway keeps, while it runs. */
import { constants, setPriority } from 'node:os';
import { runBackup } from './backup/runBackup.ts';

// Whoever waits for an answer of the gateway goes first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const context = { environment: process.env, print: console.log, complain: console.error };
process.exitCode = await runBackup(context, process.argv.slice(2));
