! Two pairs as topologies of both forms, by the binding that is named: for test_dist_graph.py.
program pairs
  use MODULE
  implicit none
  integer :: error, rank, new, form, partner(1), one(1)
  INTEGER_OR_COMM :: made
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  one = 1
  partner = ieor(rank, 1)
  do form = 0, 1
    if (form == 0) then
      call mpi_dist_graph_create_adjacent(mpi_comm_world, 1, partner, mpi_unweighted, 1, partner, &
                                          mpi_unweighted, mpi_info_null, .true., made, error)
    else
      call mpi_dist_graph_create(mpi_comm_world, 1, [rank], one, partner, [3], mpi_info_null, &
                                 .true., made, error)
    end if
    call mpi_comm_rank(made, new, error)
    call mpi_barrier(mpi_comm_world, error)
    print '(i0,1x,i0,1x,i0,1x,i0,1x,i0,a)', rank + 4 * form, form, rank, new, 0, ' in out got'
    call mpi_comm_free(made, error)
  end do
  call mpi_finalize(error)
end program
