#!/usr/bin/env node
// The program `mocap-uplink`: argv in, exit code out.

import { runCli } from './run-cli.ts'

void runCli(process.argv.slice(2))
