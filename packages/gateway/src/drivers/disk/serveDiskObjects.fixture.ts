// A process of its own around the local object store, to be killed: `node serveDiskObjects.fixture.ts DIRECTORY`.
import { startDiskObjects } from './startDiskObjects.rig.ts';

const directory = process.argv[2];
if (directory === undefined) throw new Error('Which directory?');
const rig = await startDiskObjects({ directory });
process.stdout.write(`${rig.url}\n`);
