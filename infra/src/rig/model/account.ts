/** A thing that exists in the account, whether a stack knows of it or not. */
export interface Thing {
  readonly type: string;
  readonly name: string;
  readonly region: string;
  /** Stack that it belongs to; undefined: none. */
  stack?: string | undefined;
  properties: Readonly<Record<string, unknown>>;
  /** What it was found to hold by whoever looks after it: it must be there at the end as well. */
  content?: string;
}

/** Properties by which a resource is named; a resource without one is named by CloudFormation. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'AWS::ApiGatewayV2::DomainName': 'DomainName',
  'AWS::Budgets::Budget': 'BudgetName',
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::CompositeAlarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::CodeDeploy::Application': 'ApplicationName',
  'AWS::CodeDeploy::DeploymentGroup': 'DeploymentGroupName',
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::S3::Bucket': 'BucketName',
  'AWS::SecretsManager::Secret': 'Name',
  'AWS::SNS::Topic': 'TopicName',
  'AWS::WAFv2::IPSet': 'Name',
  'AWS::WAFv2::WebACL': 'Name',
};

/** The account: names are taken once a type and region. */
export interface Account {
  readonly things: Set<Thing>;
  /** The name that a template gives; undefined where CloudFormation chooses. */
  customName(type: string, properties: Readonly<Record<string, unknown>>): string | undefined;
  find(type: string, region: string, name: string): Thing | undefined;
  add(thing: Thing): Thing;
  /** @throws Error where AWS would refuse */
  remove(thing: Thing): void;
}

/** Makes an empty account. */
export function createAccount(): Account {
  const things = new Set<Thing>();
  const find = (type: string, region: string, name: string) =>
    [...things].find((thing) => thing.type === type && thing.region === region && thing.name === name);
  return {
    things,
    find,
    customName: (type, properties) => {
      const property = NAMED_BY[type];
      const name = property === undefined ? undefined : properties[property];
      return name === undefined ? undefined : String(name);
    },
    add(thing) {
      if (find(thing.type, thing.region, thing.name)) throw new Error(`${thing.name} already exists`);
      things.add(thing);
      return thing;
    },
    remove(thing) {
      if (thing.properties.DeletionProtectionEnabled === true) throw new Error(`${thing.name} is protected`);
      if (thing.type === 'AWS::S3::Bucket' && thing.content !== undefined)
        throw new Error(`${thing.name} is not empty`);
      things.delete(thing);
    },
  };
}
