import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { describeStack } from './createStackControl.ts';
import type { AccountView } from './preflight.ts';

/** @see https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html */
const BOOTSTRAP_PARAMETER = '/cdk-bootstrap/hnb659fds/version';
const ABSENT = new Set(['ResourceNotFoundException', 'ParameterNotFound']);

/** @returns undefined if AWS says that there is no such thing */
async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error && ABSENT.has(error.name)) return undefined;
    throw error;
  }
}

/** Looks at the account of the credentials that the AWS SDK finds. It changes nothing. */
export function createAccountView(region: string): AccountView {
  const lambda = new LambdaClient({ region });
  const dynamo = new DynamoDBClient({ region });
  const cloudFormation = new CloudFormationClient({ region });
  const ownConcurrency = async (FunctionName: string) =>
    (await ifThere(lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }))))?.ReservedConcurrentExecutions;
  return {
    async accountId() {
      return (await new STSClient({ region }).send(new GetCallerIdentityCommand({}))).Account ?? '';
    },
    async bootstrapVersion(ofRegion) {
      const asked = new SSMClient({ region: ofRegion }).send(new GetParameterCommand({ Name: BOOTSTRAP_PARAMETER }));
      const value = (await ifThere(asked))?.Parameter?.Value;
      return value === undefined ? undefined : Number(value);
    },
    async concurrency(functionName) {
      const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {};
      return { limit, unreserved, own: (await ownConcurrency(functionName)) ?? 0 };
    },
    async hasFunction(FunctionName) {
      return (await ifThere(lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })))) !== undefined;
    },
    async hasTable(TableName) {
      return (await ifThere(dynamo.send(new DescribeTableCommand({ TableName })))) !== undefined;
    },
    async hasStack(name) {
      return (await describeStack(cloudFormation, name)) !== undefined;
    },
  };
}
