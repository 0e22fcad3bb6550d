import { expect, test } from 'vitest';
import { findCommands } from './listCommands.ts';

test.each([
  ['`npm start` and `npm test`', ['start', 'test']],
  ['PORT=1 npm start -- --help', ['start']],
  ['npm run bench -- dynamodb --worst-day', ['bench dynamodb']],
  ['npm run bench -- --quick', ['bench']],
  ['npm run payments:status; npm run gas-monitor', ['payments:status', 'gas-monitor']],
  ['TOKEN=$(npm run --silent token -- alice)', ['token alice']],
  ['`npm run test:infra`, `npm run test:dynamodb-local`', ['test:infra', 'test:dynamodb-local']],
  ['npm run payments -- release <intent>', ['payments release']],
  ['npx prism devnet, node bin/prism.mjs relayer', ['devnet', 'relayer']],
  ['npm install; npm run pretty', ['pretty']],
  ['`npx prism --help`, npm', []],
  ['npm run check:size -- --verbose', ['check:size']],
])('%s', (text, commands) => {
  expect(findCommands(text)).toEqual(commands);
});
