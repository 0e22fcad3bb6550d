import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { startDynamoPair } from '../rigs/startDynamoPair.ts';
import { startGatewayPair } from '../rigs/startGatewayPair.ts';
import { claimRace } from './claimRace.ts';

claimRace('SQLite', startGatewayPair);

describeWithDynamo('DynamoDB', () => {
  claimRace('DynamoDB', startDynamoPair);
});
