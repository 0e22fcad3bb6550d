/** Creates the tables that the settings name in a local DynamoDB engine, as the server does when it starts on one. */

import { openStores } from '../src/entry/openStores.ts';
import { parseSettings } from '../src/entry/settings.ts';
import { createWorkerThread } from '../src/entry/workerThread/createWorkerThread.ts';

const settings = parseSettings(process.env);
const stores = await openStores({ settings, environment: process.env, now: Date.now, thread: createWorkerThread() });
await stores.close();
