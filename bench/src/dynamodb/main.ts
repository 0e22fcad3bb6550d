/** `npm run bench -- dynamodb`: read and write units. `DYNAMODB_ENGINE=dynamodb-local` has AWS's own engine count them. */
import { runDynamoBench } from './runDynamoBench.ts';

process.exitCode = (await runDynamoBench()) ? 0 : 1;
