import { drawSome, sized } from '@prism-gateway/testing/test-size';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { startDynamoPair } from '../rigs/startDynamoPair.ts';
import { startGatewayPair } from '../rigs/startGatewayPair.ts';
import { pagingRace } from './pagingRace.ts';

const stores = drawSome(['SQLite', 'DynamoDB'], { of: 'walks among writers', small: 1 });

if (stores.includes('SQLite')) {
  pagingRace('SQLite', startGatewayPair, {
    records: sized({ small: 500, long: 10_000 }),
    ordersLateRecords: true,
  });
}

if (stores.includes('DynamoDB')) {
  describeWithDynamo('DynamoDB', () => {
    pagingRace('DynamoDB', startDynamoPair, {
      records: sized({ small: 200, long: 4000 }),
      ordersLateRecords: false,
    });
  });
}
