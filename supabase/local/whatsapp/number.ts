/** A template of an account, as the Graph API lists it. */
export type GraphTemplate = {
  name: string
  language: string
  status: string
  category: string
  parameter_format: string
}

/** A business number of the fake. */
export type GraphNumber = {
  token: string
  /** 80 as Meta's default. */
  perSecond?: number
  /** The account of the number and the app of the token; a test that only sends needs neither. */
  account?: string
  app?: string
  templates?: GraphTemplate[]
}

/** What the Graph API says of a number besides: a test or an operator may change any of it. */
export type GraphFacts = {
  /** When the token expires, in seconds since 1970; 0: never. */
  expiresAt: number
  scopes: string[]
  tokenApp: string
  status: string
  quality: string
  /** The apps that get the callbacks of the account. */
  subscribed: string[]
  templates: GraphTemplate[]
}

/** The facts of a number that is set up without a fault. */
export function soundFacts({ app = '1', templates = [] }: GraphNumber): GraphFacts {
  return {
    expiresAt: 0,
    scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
    tokenApp: app,
    status: 'CONNECTED',
    quality: 'GREEN',
    subscribed: [app],
    templates,
  }
}
