/** The version that the user-agent header, the logs and the API's description name. */
export const version = '0.1.0'
