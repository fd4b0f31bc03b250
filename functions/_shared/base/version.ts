/** The version in the user-agent header, the logs and the API's description. */
export const version = '0.1.0'
