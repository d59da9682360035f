// Runs with every file of the suite: a deployment keeps no session that a test opened.

import { afterAll } from 'vitest'
import { cancelOpened } from './service-calls.ts'

afterAll(cancelOpened)
