/** The pages about messages, which are loaded together. */

export { ChannelsPage } from './channels.tsx'
export { DossierPage } from './dossier.tsx'
export { InboundPage } from './inbound.tsx'
export { MessagePage } from './message.tsx'
export { MessagesPage } from './messages.tsx'
export { PersonPage } from './person.tsx'
export { TemplatesPage } from './templates.tsx'
