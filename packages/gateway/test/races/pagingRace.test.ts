import { drawSome, sized } from '@prism-gateway/testing/test-size';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { startDynamoPair } from '../rigs/startDynamoPair.ts';
import { startGatewayPair } from '../rigs/startGatewayPair.ts';
import { pagingRace } from './pagingRace.ts';

const stores = drawSome(['SQLite', 'DynamoDB'], { of: 'walks among writers', small: 1 });

if (stores.includes('SQLite')) {
  pagingRace('SQLite', startGatewayPair, {
    records: sized({ small: 300, long: 10_000 }),
    fillers: 40,
    ordersLateRecords: true,
  });
}

if (stores.includes('DynamoDB')) {
  describeWithDynamo('DynamoDB', () => {
    pagingRace('DynamoDB', startDynamoPair, {
      // Each page costs the engine a tenth of a second and more: a thousand are 270 pages, and twenty of each list.
      records: sized({ small: 200, long: 1000 }),
      // It has one thread: of forty calls at once the last may come after the gateway's patience, which is a 503.
      fillers: 8,
      ordersLateRecords: false,
    });
  });
}
