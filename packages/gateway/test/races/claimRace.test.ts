import { drawSome } from '@prism-gateway/testing/test-size';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { startDynamoPair } from '../rigs/startDynamoPair.ts';
import { startGatewayPair } from '../rigs/startGatewayPair.ts';
import { claimRace } from './claimRace.ts';

// Each store's contract has races of its own, without processes.
const stores = drawSome(['SQLite', 'DynamoDB'], { of: 'races for claims', small: 1 });

if (stores.includes('SQLite')) claimRace('SQLite', startGatewayPair);

if (stores.includes('DynamoDB')) {
  describeWithDynamo('DynamoDB', () => {
    claimRace('DynamoDB', startDynamoPair);
  });
}
