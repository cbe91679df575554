/* A request of a layer of the tests, which completes it by PMPI_Grequest_complete. */
#ifndef NEARCACHE_TESTS_OWN_REQUEST_H
#define NEARCACHE_TESTS_OWN_REQUEST_H

#include <mpi.h>
#include <stddef.h>

static int own_request_query(void* state, MPI_Status* status) {
  (void)state;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}

static int own_request_free(void* state) {
  (void)state;
  return MPI_SUCCESS;
}

static int own_request_cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}

static int start_request(MPI_Request* request) {
  return PMPI_Grequest_start(own_request_query, own_request_free, own_request_cancel, NULL,
                             request);
}

#endif
