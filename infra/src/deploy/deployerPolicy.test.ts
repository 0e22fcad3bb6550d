import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

interface Statement {
  readonly Action: string | readonly string[];
}

const { Statement: statements } = JSON.parse(read('infra/deployer-policy.json')) as {
  readonly Statement: readonly Statement[];
};
const actions = new Set(statements.flatMap(({ Action }) => Action));

/** Words of the AWS CLI, and the right that each takes, if the names differ. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'cloudwatch:DescribeAlarms': 'cloudwatch:DescribeAlarms',
  'deploy:ListDeployments': 'codedeploy:ListDeployments',
  'deploy:StopDeployment': 'codedeploy:StopDeployment',
  'dynamodb:Wait': 'dynamodb:DescribeTable',
};
/** Commands for the administrator, or for whoever mends webhooks. */
const OTHERS = /^(secretsmanager:CreateSecret|s3api:|sqs:|dynamodbstreams:|lambda:Invoke|iam:|ecs:|aws:)/;

it('lets the deployer do what the deployment does, and what the page says', () => {
  const sources = ['createAccountView', 'createStackControl'].map((name) => read(`infra/src/deploy/${name}.ts`));
  const services = { CloudFormation: 'cloudformation', DynamoDB: 'dynamodb', Lambda: 'lambda', SSM: 'ssm', STS: 'sts' };
  const called = [...new Set(sources.join('').match(/(?<=new )\w+(?=Command\()/g))];
  expect(called).toContain('DescribeStacks');
  for (const command of called)
    expect(
      Object.values(services)
        .map((service) => `${service}:${command}`)
        .some((action) => actions.has(action)),
      command,
    ).toBe(true);
  const page = read('docs/operations-aws.md');
  const reported = [...page.matchAll(/\baws ([a-z0-9]+) ([a-z0-9-]+)/g)].map(([, service, words = '']) => {
    const name = words
      .split('-')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join('');
    return OTHERWISE[`${service}:${name}`] ?? `${service}:${name}`;
  });
  expect(reported.length).toBeGreaterThan(15);
  for (const action of reported.filter((one) => !OTHERS.test(one))) expect(actions, action).toContain(action);
});
